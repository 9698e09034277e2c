// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// HashContent is what stands in place of content that was replaced by its hash:
// that of its canonical JSON, made an HMAC if there is a key. It is the same
// wherever the same data stood.
func HashContent(v jsonvalue.Value, key string) string {
	canonical, err := v.AppendCanonical(nil)
	if err != nil { // a number that has no canonical form
		canonical = []byte("not hashable")
	}
	sum := sha256.Sum256(canonical)
	return keyed("sha256:"+hex.EncodeToString(sum[:]), key)
}
