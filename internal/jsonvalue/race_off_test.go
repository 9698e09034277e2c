// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package jsonvalue

const raceEnabled = false
