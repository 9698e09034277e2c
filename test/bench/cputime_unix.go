// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"syscall"
	"time"
)

// processTime is how long the processors have worked for this process, for its own code
// and in the kernel: others may be at work on the same machine.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for a wrong argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
