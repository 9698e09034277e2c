// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package spantest

// RaceEnabled reports whether the race detector is on. It makes everything slow and
// changes what is allocated.
const RaceEnabled = false
