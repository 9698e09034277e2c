// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// verbs say what a tool does, by the word in its name.
var verbs = map[string]engine.ClaimType{}

func init() {
	for claim, words := range map[engine.ClaimType]string{
		engine.ClaimReadComplete: "get fetch read load show describe view retrieve download open",
		engine.ClaimFound:        "search find lookup look query list check locate match browse",
		engine.ClaimEffectObserved: "create make add insert post put set update change edit modify patch write save store upload send mail email notify " +
			"book reserve order buy purchase pay charge refund cancel delete remove drop archive close submit issue transfer move rename assign approve reject " +
			"confirm schedule start stop run execute deploy register subscribe unsubscribe publish commit merge click type press navigate",
	} {
		for _, word := range strings.Fields(words) {
			verbs[word] = claim
		}
	}
}

// words splits a name at its separators and where capitals begin.
func words(name string) []string {
	var b strings.Builder
	previous := rune(0)
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			b.WriteByte(' ')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		previous = r
	}
	return strings.Fields(b.String())
}

// claimOf guesses from a tool's name what its result is claimed to show, and by
// which word; "" if no word tells.
func claimOf(name string) (claim engine.ClaimType, word string) {
	for _, w := range words(name) {
		if c, ok := verbs[w]; ok {
			return c, w
		}
	}
	return "", ""
}

// nounOf is what a tool is about: its name without the word that says what it
// does.
func nounOf(name string) string {
	list := words(name)
	for i, w := range list {
		if _, ok := verbs[w]; ok && len(list) > 1 {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	return strings.Join(list, "-")
}

// idWords are words of names that identify something.
var idWords = map[string]bool{
	"id": true, "ids": true, "uuid": true, "key": true, "number": true, "no": true, "code": true, "sku": true, "ref": true, "reference": true,
	"path": true, "url": true, "uri": true, "email": true, "slug": true, "handle": true, "token": true, "confirmation": true, "receipt": true,
}

// identifies reports whether a name is that of something that identifies.
func identifies(name string) bool {
	list := words(name)
	return len(list) > 0 && idWords[list[len(list)-1]]
}

// sameName reports whether two names are the same but for how they are written.
func sameName(a, b string) bool { return strings.Join(words(a), " ") == strings.Join(words(b), " ") }

// akin reports whether one name ends with the other: id and customer_id.
func akin(a, b string) bool {
	x, y := strings.Join(words(a), " "), strings.Join(words(b), " ")
	return strings.HasSuffix(x, " "+y) || strings.HasSuffix(y, " "+x)
}

// absent matches texts by which a source says that there is nothing.
var absent = regexp.MustCompile(`(?i)^\W*([\w'#:.-]+[ _]){0,3}?(not[ _-]?found|no (such|results?|match(es)?|records?|data|hits|rows|entries)|no ([\w-]+ ){1,2}(was |were )?found|does ?(n't| not) exist|nothing found|nil|none|unknown)\b`)

// maxSentinel is how long such a text may be: longer ones tell of more.
const maxSentinel = 120

// saysAbsent reports whether a text says that there is nothing.
func saysAbsent(text string) bool { return len(text) <= maxSentinel && absent.MatchString(text) }

// failing matches texts by which tools tell of a failure.
var failing = regexp.MustCompile(`(?i)^\W*(error|exception|traceback|failed|failure)\b`)

// saysError reports whether a result is a text about a failure.
func saysError(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.StringKind && failing.MatchString(v.Text())
}

// subjects are words of arguments that say what a call is about, where none
// identifies it.
var subjects = map[string]bool{
	"to": true, "recipient": true, "name": true, "query": true, "q": true, "user": true, "customer": true, "title": true, "file": true, "city": true,
}

// holders are whose ids prove nothing: they were there before.
var holders = map[string]bool{
	"user": true, "customer": true, "account": true, "member": true, "owner": true, "agent": true, "session": true, "tenant": true,
	"org": true, "organization": true, "client": true, "employee": true, "parent": true, "project": true, "workspace": true,
}
