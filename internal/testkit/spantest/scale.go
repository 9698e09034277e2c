// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"os"
	"strconv"
	"testing"
)

// Scaled returns the size of a test: less with the race detector, which makes everything
// slow, and times RESULTSEAL_SCALE where that is set. A million spans are
// RESULTSEAL_SCALE=25.
func Scaled(n, race int) int {
	if RaceEnabled || testing.Short() {
		n = race
	}
	if times, err := strconv.Atoi(os.Getenv("RESULTSEAL_SCALE")); err == nil && times > 0 {
		n *= times
	}
	return n
}
