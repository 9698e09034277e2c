// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Command recordings records one scenario through agent frameworks and their
// instrumentations, as they are published, into testdata/recordings.
//
// Each framework runs in a process of its own against a scripted model server and an
// OTLP/HTTP sink, both on loopback. The recorded spans and log records are normalized, so
// that two recordings of the same versions give the same bytes as far as the framework
// permits.
//
//	go run ./test/recordings -langs python
//
// See README.md for how to add a framework.
package main
