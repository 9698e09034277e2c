// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAttributeNames(t *testing.T) {
	p, err := Load("policy.yaml", []byte(`
contracts:
  - name: a
    claim_type: found
    required_fields: [x]
    freshness: {mode: not_required}
    source_ref: "crm://{resource.region}/{arguments.id}"
    target_ref: "t:{attributes.customer.id}"
    observation:
      evidence_refs: ['{attributes["e v"]}', "{result.id}"]
protocols:
  - name: p
    protocol: "!a.end"
    events:
      - {label: a, event: span, name: "x*", attributes: {step: one}}
      - {label: "{attributes.label}", event: tool_call}
`))
	require.NoError(t, err)
	span, resource := p.AttributeNames()
	require.Equal(t, []string{"customer", "customer.id", "e v", "label", "step"}, span)
	require.Equal(t, []string{"region"}, resource)
}
