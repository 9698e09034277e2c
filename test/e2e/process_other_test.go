// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package e2e_test

import (
	"os"
	"syscall"
)

// ownGroup is nothing special here: the collector starts no processes.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup kills the process.
func killGroup(p *os.Process) { _ = p.Kill() }
