// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package resultsealprocessor

// raceEnabled scales tests down that are slow or large under the race detector.
const raceEnabled = false
