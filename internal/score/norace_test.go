// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package score_test

// underRace is set where the race detector makes everything slow.
const underRace = false
