// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

// The lists of reasons that the rules give. They are few, so they are made once.
var reasonLists = func() map[[2]ReasonCode][]ReasonCode {
	lists := make(map[[2]ReasonCode][]ReasonCode)
	for _, r := range []ReasonCode{
		ReasonSealed, ReasonNoDispatch, ReasonTransportFailed, ReasonParseFailed,
		ReasonProtocolConflict, ReasonEmptyWithoutSentinel, ReasonSourceMismatch,
		ReasonTargetMismatch, ReasonMissingRequiredField, ReasonStaleObservation,
		ReasonSchemaInvalid, ReasonUnverifiedEffect, ReasonResultNotCaptured,
		ReasonResultTruncated, ReasonArgumentsNotCaptured,
	} {
		lists[[2]ReasonCode{r}] = []ReasonCode{r}
	}
	for _, p := range [][2]ReasonCode{
		{ReasonSourceMismatch, ReasonTargetMismatch},
		{ReasonMissingRequiredField, ReasonStaleObservation},
	} {
		lists[p] = p[:]
	}
	return lists
}()

// reasonsFor returns the shared list of one or two reasons.
func reasonsFor(reasons ...ReasonCode) []ReasonCode {
	var key [2]ReasonCode
	copy(key[:], reasons)
	if list, ok := reasonLists[key]; ok {
		return list
	}
	return append([]ReasonCode(nil), reasons...)
}
