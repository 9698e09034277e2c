// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package session says in which order an agent may act, and follows it.
package session
