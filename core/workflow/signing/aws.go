package signing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Pair is a name with its value.
type Pair struct{ Name, Value string }

// AWS is a request to sign with Signature Version 4.
type AWS struct {
	Method, URL       string
	Region, Service   string
	AccessKey, Secret string
	SessionToken      string // empty: none
	Headers           []Pair // all of them are signed; Host is added
	Body              []byte
	Unsigned          bool // the body's digest is not signed: UNSIGNED-PAYLOAD
	Time              time.Time
}

const (
	awsAlgorithm = "AWS4-HMAC-SHA256"
	awsTime      = "20060102T150405Z"
)

// Sign returns the headers to add to the request, Authorization last.
func (a AWS) Sign() ([]Pair, error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("url = %q is not an absolute URL: write https://host/path", a.URL)
	}
	for _, f := range []Pair{{"region", a.Region}, {"service", a.Service}, {"access_key", a.AccessKey}, {"secret_key", a.Secret}} {
		if f.Value == "" {
			return nil, fmt.Errorf("%s is empty", f.Name)
		}
	}
	s3 := a.Service == "s3"
	payload := hexDigest(a.Body)
	if a.Unsigned {
		payload = "UNSIGNED-PAYLOAD"
	}
	at := a.Time.UTC().Format(awsTime)
	added := []Pair{{"X-Amz-Date", at}}
	if s3 || a.Unsigned {
		added = append(added, Pair{"X-Amz-Content-Sha256", payload})
	}
	signed := slices.Concat(a.Headers, added)
	if a.SessionToken != "" {
		token := Pair{"X-Amz-Security-Token", a.SessionToken}
		added = append(added, token)
		signed = append(signed, token)
	}
	if !slices.ContainsFunc(signed, func(p Pair) bool { return strings.EqualFold(p.Name, "host") }) {
		signed = append(signed, Pair{"Host", hostOf(u)})
	}
	names, lines := canonicalHeaders(signed)
	request := strings.Join([]string{a.Method, canonicalPath(u, s3), canonicalQuery(u.RawQuery), lines, names, payload}, "\n")
	scope := at[:8] + "/" + a.Region + "/" + a.Service + "/aws4_request"
	text := awsAlgorithm + "\n" + at + "\n" + scope + "\n" + hexDigest([]byte(request))
	signature := hex.EncodeToString(mac(a.key(at[:8]), text))
	value := awsAlgorithm + " Credential=" + a.AccessKey + "/" + scope + ", SignedHeaders=" + names + ", Signature=" + signature
	return append(added, Pair{"Authorization", value}), nil
}

func (a AWS) key(day string) []byte {
	k := mac([]byte("AWS4"+a.Secret), day)
	k = mac(k, a.Region)
	k = mac(k, a.Service)
	return mac(k, "aws4_request")
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// hostOf returns the Host field: without the default port of the scheme.
func hostOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		return strings.TrimSuffix(host, ":80")
	case "https":
		return strings.TrimSuffix(host, ":443")
	}
	return host
}

// canonicalPath returns the path as sent, escaped once more. S3 alone takes it unchanged, and
// does not fold dots and slashes.
func canonicalPath(u *url.URL, s3 bool) string {
	sent := u.EscapedPath()
	if sent == "" {
		return "/"
	}
	if s3 {
		return escape(u.Path, true)
	}
	clean := path.Clean(sent)
	if strings.HasSuffix(sent, "/") && clean != "/" {
		clean += "/"
	}
	return escape(clean, true)
}

// canonicalQuery sorts the parameters by name, then by value, both escaped.
func canonicalQuery(raw string) string {
	if raw == "" {
		return ""
	}
	var all []Pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		all = append(all, Pair{escape(unescape(name), false), escape(unescape(value), false)})
	}
	slices.SortFunc(all, func(a, b Pair) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
	parts := make([]string, len(all))
	for i, p := range all {
		parts[i] = p.Name + "=" + p.Value
	}
	return strings.Join(parts, "&")
}

// unescape decodes a part of a query; an invalid escape stays as it is.
func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// escape leaves the unreserved characters of RFC 3986, and slashes of paths.
func escape(s string, slash bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 || c == '/' && slash:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// canonicalHeaders sorts by name. It joins values of one name in their order, and folds runs of
// spaces.
func canonicalHeaders(headers []Pair) (names, lines string) {
	var order []string
	values := map[string][]string{}
	for _, h := range headers {
		name := strings.ToLower(strings.TrimSpace(h.Name))
		if values[name] == nil {
			order = append(order, name)
		}
		values[name] = append(values[name], strings.Join(strings.Fields(h.Value), " "))
	}
	slices.Sort(order)
	var b strings.Builder
	for _, name := range order {
		b.WriteString(name + ":" + strings.Join(values[name], ",") + "\n")
	}
	return strings.Join(order, ";"), b.String()
}
