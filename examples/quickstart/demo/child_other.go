// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "os/exec"

// endWithParent does nothing where the kernel cannot do it for us.
func endWithParent(*exec.Cmd) {}

// startAndWait starts the child and returns when it is gone.
func startAndWait(cmd *exec.Cmd, started chan<- error) error {
	err := cmd.Start()
	started <- err
	if err != nil {
		return err
	}
	return cmd.Wait()
}
