// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cputime

import "time"

var begun = time.Now()

func now() time.Duration { return time.Since(begun) }
