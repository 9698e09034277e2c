// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package cputime

import (
	"syscall"
	"time"
)

func now() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
