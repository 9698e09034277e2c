// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// tenantStore keeps conversations by identity.
type tenantStore map[string]*Conversation

func (s tenantStore) Conversation(id string) *Conversation {
	if s[id] == nil {
		s[id] = &Conversation{}
	}
	return s[id]
}

func (s tenantStore) Skip(id string) { s[id] = EvictedConversation() }

// Two tenants that use one conversation id share it, unless the settings name the
// resource attributes that tell them apart.
func TestTenantsOfAConversation(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(`
protocols:
  - name: read-before-cancel
    session: conversation
    protocol: "!order(id as id).?order.!cancel(id == id).?cancel.end"
`))
	require.NoError(t, err)
	for _, test := range []struct {
		name       string
		attributes []string
		states     int
		verdict    Compliance
	}{
		{"one id is one conversation", nil, 1, Compliant},
		{"a tenant's own conversation", []string{"tenant.id"}, 2, Violation},
	} {
		t.Run(test.name, func(t *testing.T) {
			scorer := New(p)
			decoder := genai.NewDecoder(genai.Options{ConversationResources: test.attributes})
			store := tenantStore{}
			turn := func(n int, tenant, tool string) *Session {
				td := turnOf(n, "same", tool, "A-1")
				td.ResourceSpans().At(0).Resource().Attributes().PutStr("tenant.id", tenant)
				facts, _ := decoder.Traces(td)
				return scorer.Trace(facts, store)
			}
			turn(1, "acme", "order")
			v := turn(2, "umbrella", "cancel") // cancels what the other tenant ordered
			require.Equal(t, test.verdict, v.Compliance)
			require.Len(t, store, test.states)
			require.Equal(t, "same", genai.ConversationID(v.Conversation))
		})
	}
}

func TestConversationNames(t *testing.T) {
	for conversation, want := range map[string][2]string{
		"":                   {"", ""},
		"c1":                 {"c1", "c1"},
		"c1\x00acme":         {"c1", "c1@acme"},
		"c1\x00acme\x00eu":   {"c1", "c1@acme,eu"},
		"c1\x00\x00eu":       {"c1", "c1@,eu"},
		"c\uFFFD1\x00acme":   {"c\uFFFD1", "c\uFFFD1@acme"},
		"with spaces\x00a b": {"with spaces", "with spaces@a b"},
	} {
		require.Equal(t, want, [2]string{genai.ConversationID(conversation), genai.ConversationName(conversation)})
	}
}
