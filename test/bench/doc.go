// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what ResultSeal costs beside things that do a part of the
// same work, and prints one table.
//
//	make bench
//
// Whatever is compared is measured in turn, round by round, within one process (or,
// for the programs, by child processes of one process), so that a machine that slows
// down slows both down. It is a module of its own, since the processors that ours is
// held against must not become requirements of the module that has ours.
//
// contest.go runs the rounds, statistics.go makes figures of them, table.go a table of
// the figures. Each of the other files holds what one group of rows measures.
package main
