// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// endWithParent has the kernel end the child should this process be killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// startAndWait starts the child and returns when it is gone. To the kernel
// the parent is the thread that started the child, so that thread must live
// as long as the child.
func startAndWait(cmd *exec.Cmd, started chan<- error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err != nil {
		return err
	}
	return cmd.Wait()
}
