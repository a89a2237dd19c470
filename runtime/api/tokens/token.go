package tokens

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/node"
)

// Bounds of a file.
const (
	textMax   = 1 << 20 // bytes
	tokensMax = 4096
	nameMax   = 128 // bytes of a name, the owner of jobs
	prefix    = "hs_"
	digested  = "sha256:"
	forever   = "never"
)

// Token is what a file says of one token.
type Token struct {
	Name   string // owner of the jobs that it submits
	Right  node.Right
	Digest [sha256.Size]byte
	Until  time.Time // zero: it does not end
}

// New draws a token for a name: the text, which its holder alone keeps, and what the file has of it.
func New(name string, right node.Right, until time.Time) (text string, t Token, err error) {
	if err := checkName(name); err != nil {
		return "", t, err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never returns an error, it ends the process
	text = prefix + base64.RawURLEncoding.EncodeToString(b[:])
	return text, Token{Name: name, Right: right, Digest: sha256.Sum256([]byte(text)), Until: until.UTC().Truncate(time.Second)}, nil
}

// checkName rejects a name that cannot stand in a line, a log or a record.
func checkName(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_@", r)
	}
	if name == "" || len(name) > nameMax || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return fmt.Errorf("name %q must be 1 to %d letters, digits or .-_@: choose another --name", name, nameMax)
	}
	return nil
}

// ParseRole returns the right of a role's name.
func ParseRole(role string) (node.Right, error) {
	all := []node.Right{node.RightView, node.RightSubmit, node.RightOperate}
	at := slices.IndexFunc(all, func(r node.Right) bool { return r.String() == role })
	if at < 0 {
		return 0, fmt.Errorf("role %q is none: write viewer, submitter or operator", role)
	}
	return all[at], nil
}

// Line is how a file has the token, without an end of line.
func (t *Token) Line() string {
	until := forever
	if !t.Until.IsZero() {
		until = t.Until.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %v %s%x %s", t.Name, t.Right, digested, t.Digest, until)
}

// Parse reads the lines of a file. Empty lines and those that begin with # say nothing.
func Parse(text []byte) (all []Token, err error) {
	if len(text) > textMax {
		return nil, fmt.Errorf("the file has more than %d bytes: take lines out", textMax)
	}
	names := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, textMax+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		t, err := parseLine(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case names[t.Name]:
			return nil, fmt.Errorf("line %d: the name %s stands twice: a token's name is the owner of its jobs, take one line out", n, t.Name)
		case len(all) == tokensMax:
			return nil, fmt.Errorf("line %d: there are more than %d tokens: take lines out", n, tokensMax)
		}
		names[t.Name] = true
		all = append(all, t)
	}
	return all, lines.Err()
}

func parseLine(line string) (t Token, err error) {
	f := strings.Fields(line)
	if len(f) != 4 {
		return t, fmt.Errorf("it has %d words, want name, role, digest and end: write lines with `hyperscale token new`", len(f))
	}
	t.Name = f[0]
	if err := checkName(t.Name); err != nil {
		return t, err
	}
	if t.Right, err = ParseRole(f[1]); err != nil {
		return t, err
	}
	sum, is := strings.CutPrefix(f[2], digested)
	b, err := hex.DecodeString(sum)
	if !is || err != nil || len(b) != len(t.Digest) {
		return t, fmt.Errorf("the digest is not %s and %d hexadecimal digits: write lines with `hyperscale token new`", digested, 2*len(t.Digest))
	}
	copy(t.Digest[:], b)
	if f[3] == forever {
		return t, nil
	}
	if t.Until, err = time.Parse(time.RFC3339, f[3]); err != nil || t.Until.IsZero() {
		return t, fmt.Errorf("the end %q is no time: write %s, or a time like 2027-01-01T00:00:00Z", f[3], forever)
	}
	return t, nil
}

// find returns the token of a text. It compares all of them.
func find(all []Token, text string) (found Token, ok bool) {
	digest := sha256.Sum256([]byte(text))
	at := -1
	for i := range all {
		if subtle.ConstantTimeCompare(all[i].Digest[:], digest[:]) == 1 {
			at = i
		}
	}
	if at < 0 {
		return found, false
	}
	return all[at], true
}
