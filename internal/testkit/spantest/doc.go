// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package spantest makes spans for tests: from lines of text, from recordings, by
// chance, and of simulated agents.
package spantest
