// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

// What the rules give as reasons are few lists, which are made once.
var (
	sealedReason   = []ReasonCode{ReasonSealed}
	bothMismatch   = []ReasonCode{ReasonSourceMismatch, ReasonTargetMismatch}
	versionMissing = []ReasonCode{ReasonMissingRequiredField, ReasonStaleObservation}

	singleReason = func() map[ReasonCode][]ReasonCode {
		lists := make(map[ReasonCode][]ReasonCode)
		for _, r := range []ReasonCode{
			ReasonNoDispatch, ReasonTransportFailed, ReasonParseFailed,
			ReasonProtocolConflict, ReasonEmptyWithoutSentinel, ReasonSourceMismatch,
			ReasonTargetMismatch, ReasonMissingRequiredField, ReasonStaleObservation,
			ReasonSchemaInvalid, ReasonUnverifiedEffect, ReasonResultNotCaptured,
			ReasonResultTruncated, ReasonArgumentsNotCaptured,
		} {
			lists[r] = []ReasonCode{r}
		}
		return lists
	}()
)

// reason returns the list of one reason.
func reason(r ReasonCode) []ReasonCode {
	if list, ok := singleReason[r]; ok {
		return list
	}
	return []ReasonCode{r}
}
