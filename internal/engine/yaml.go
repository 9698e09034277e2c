// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

// parseYAMLPayload will read YAML; until then every YAML text is refused.
func parseYAMLPayload(string) (Value, error) {
	return Value{}, errorf(CodeParseFailed, "YAML cannot be read yet")
}
