// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package policy

// raceEnabled: the race detector makes sync.Pool forget at random, and regular
// expressions then allocate.
const raceEnabled = true
