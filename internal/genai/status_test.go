// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestStatusCode(t *testing.T) {
	require.EqualValues(t, 404, statusCode(pcommon.NewValueInt(404)))
	require.EqualValues(t, 404, statusCode(pcommon.NewValueStr("404")))
	for _, text := range []string{"", "OK", "404 Not Found", "-1", "99", "600", "4e2"} {
		require.Zero(t, statusCode(pcommon.NewValueStr(text)), text)
	}
	require.Zero(t, statusCode(pcommon.NewValueDouble(404)))
}
