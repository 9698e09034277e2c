// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package kafka tests the two tiers of deploy/kafka around a broker that runs in
// the test: recorded traces go through both, and a worker is killed half-way.
//
//	make test-kafka
//
// It is a module of its own, since its modules are of a later release of the
// collector than the rest of the repository.
package kafka
