// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

// memoryOfMachine returns 0: how much memory there is, is not known here.
func memoryOfMachine() int64 { return 0 }
