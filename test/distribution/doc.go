// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package distribution proves the built distribution, dist/otelcol-resultseal,
// from end to end: its tests start it as a process of its own, send spans to
// its receivers over OTLP and read what its file exporter wrote.
//
//	make test-distribution
//
// builds the distribution and runs them. With plain go test they are skipped
// where there is no binary, or one that is older than the sources.
//
//   - RESULTSEAL_DISTRIBUTION is the path of the binary, by default
//     dist/otelcol-resultseal of this repository. One that is named is tested
//     whatever its age.
//   - RESULTSEAL_REQUIRE_DISTRIBUTION=1 makes a failure of what else is skipped
//     for the binary's sake.
//   - RESULTSEAL_SHARED is the folder of the recordings that are not part of
//     the repository; the tests that need them are skipped where it is absent.
//
// Two claims are checked of every span that comes out. What its sender wrote is
// there as it was, and it is there once. What was added is what the same
// packages write when they are called on the same spans without a collector:
// a difference means that the way through the collector matters.
//
// Reading order: collector_test.go starts and stops the process; send_test.go
// is the way in and output_test.go the way out; record_test.go takes batches
// apart into spans and compares them; offline_test.go scores without a
// collector; made_up_test.go makes traces up. The other files are the tests.
package distribution
