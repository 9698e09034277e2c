// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy reads the policy file: contracts, protocols and the
// projection of facts to events, loaded, validated and compiled once.
package policy
