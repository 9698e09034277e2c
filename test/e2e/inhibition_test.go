// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// While verdicts are made from a part of the spans, what is said of tools is held
// back, for the same job and for nobody else; and a violation is always told.
func TestInhibition(t *testing.T) {
	installed(t, "alertmanager", "prometheus-alertmanager")
	pager := startPager(t)
	port := startAlertmanager(t, pager.url)
	type labels map[string]string
	post := func(alerts ...labels) {
		var body []map[string]any
		for _, l := range alerts {
			body = append(body, map[string]any{"labels": l})
		}
		text, err := json.Marshal(body)
		require.NoError(t, err)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page(port, "/api/v2/alerts"), strings.NewReader(string(text)))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := local.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
	post(labels{"alertname": "ResultSealTracesCutShort", "job": "a", "finalized_by": "overflow"})
	post(
		labels{"alertname": "ResultSealSealRateDropped", "job": "a", "tool": "crm"},
		labels{"alertname": "ResultSealSealRateDropped", "job": "b", "tool": "crm"},
		labels{"alertname": "ResultSealContractSilent", "job": "a", "contract": "customer"},
		labels{"alertname": "ResultSealProtocolViolation", "job": "a", "protocol": "booking"},
		labels{"alertname": "ResultSealSpansLost", "job": "b"},
		labels{"alertname": "ResultSealUncapturedUp", "job": "b"},
	)
	states := map[string]string{}
	require.Eventually(t, func() bool {
		var alerts []struct {
			Labels labels
			Status struct{ State string }
		}
		getJSON(t, page(port, "/api/v2/alerts"), &alerts)
		for _, a := range alerts {
			states[a.Labels["alertname"]+" "+a.Labels["job"]] = a.Status.State
		}
		for _, state := range states {
			if state == "unprocessed" {
				return false
			}
		}
		return len(alerts) == 7 && len(pager.alerts()) >= 5
	}, patience, 100*time.Millisecond)
	require.Equal(t, map[string]string{
		"ResultSealTracesCutShort a":    "active",
		"ResultSealSealRateDropped a":   "suppressed",
		"ResultSealSealRateDropped b":   "active",
		"ResultSealContractSilent a":    "suppressed",
		"ResultSealProtocolViolation a": "active",
		"ResultSealSpansLost b":         "active",
		"ResultSealUncapturedUp b":      "active",
	}, states)
	for _, l := range pager.alerts() {
		require.NotEqual(t, "suppressed", states[l["alertname"]+" "+l["job"]], "%v was told", l)
	}
}
