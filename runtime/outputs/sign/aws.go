package sign

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	awsAlgorithm = "AWS4-HMAC-SHA256"
	awsTime      = "20060102T150405Z"
	awsDay       = "20060102"
)

// AWS are credentials for one service in one region.
type AWS struct {
	Key     string // its id, which is no secret
	Secret  string
	Token   string // of a session; empty for keys that last
	Region  string
	Service string // as in the scope: "s3", "monitoring"
}

// Sign adds X-Amz-Date, X-Amz-Security-Token if there is a token, X-Amz-Content-Sha256 for S3, and Authorization. It signs the
// host, and all heads that the request has then but those that a proxy may change.
func (c *AWS) Sign(r *http.Request, body []byte, now time.Time) {
	now = now.UTC()
	r.Header.Set("X-Amz-Date", now.Format(awsTime))
	if c.Token != "" {
		r.Header.Set("X-Amz-Security-Token", c.Token)
	}
	digest := hexDigest(body)
	if c.Service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", digest)
	}
	request, heads := c.canonical(r, digest)
	scope := strings.Join([]string{now.Format(awsDay), c.Region, c.Service, "aws4_request"}, "/")
	text := strings.Join([]string{awsAlgorithm, now.Format(awsTime), scope, hexDigest([]byte(request))}, "\n")
	signature := hex.EncodeToString(mac(c.key(now), text))
	r.Header.Set("Authorization", awsAlgorithm+" Credential="+c.Key+"/"+scope+", SignedHeaders="+heads+", Signature="+signature)
}

// key is derived for a day, a region and a service.
func (c *AWS) key(now time.Time) []byte {
	k := mac([]byte("AWS4"+c.Secret), now.Format(awsDay))
	for _, part := range []string{c.Region, c.Service, "aws4_request"} {
		k = mac(k, part)
	}
	return k
}

// canonical is the request as it is signed, and the names of its signed heads.
func (c *AWS) canonical(r *http.Request, digest string) (request, heads string) {
	values := map[string][]string{"host": {hostOf(r)}}
	for name, all := range r.Header {
		switch name = strings.ToLower(name); name {
		case "authorization", "user-agent", "connection", "expect", "accept-encoding", "transfer-encoding":
		default:
			values[name] = all
		}
	}
	var names []string
	for name := range values { //lint:orderfree they are sorted
		names = append(names, name)
	}
	slices.Sort(names)
	var block strings.Builder
	for _, name := range names {
		trimmed := make([]string, len(values[name]))
		for i, v := range values[name] {
			trimmed[i] = strings.Join(strings.Fields(v), " ")
		}
		block.WriteString(name + ":" + strings.Join(trimmed, ",") + "\n")
	}
	heads = strings.Join(names, ";")
	return strings.Join([]string{r.Method, c.path(r.URL), queryOf(r.URL), block.String(), heads, digest}, "\n"), heads
}

// EscapePath escapes a path as S3 does before it compares signatures, so that what is sent is what is signed.
func EscapePath(path string) string { return escape(path, "/") }

func hostOf(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	return r.URL.Host
}

// path is the path of an address. All services but S3 want it clean, and escaped twice.
func (c *AWS) path(u *url.URL) string {
	p := u.EscapedPath()
	if c.Service != "s3" {
		clean := path.Clean("/" + p)
		if strings.HasSuffix(p, "/") && clean != "/" {
			clean += "/"
		}
		return escape(clean, "/")
	}
	if p == "" {
		return "/"
	}
	return escape(u.Path, "/")
}

func queryOf(u *url.URL) string {
	var pairs [][2]string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, [2]string{again(name), again(value)})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		if d := strings.Compare(a[0], b[0]); d != 0 {
			return d
		}
		return strings.Compare(a[1], b[1])
	})
	all := make([]string, len(pairs))
	for i, p := range pairs {
		all[i] = p[0] + "=" + p[1]
	}
	return strings.Join(all, "&")
}

// again escapes a part of a query in the one way that AWS knows.
func again(s string) string {
	plain, err := url.QueryUnescape(s)
	if err != nil {
		plain = s
	}
	return escape(plain, "")
}

// escape is AWS's UriEncode: all but unreserved characters and those of keep, in upper case.
func escape(s, keep string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~"+keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte("0123456789ABCDEF"[c>>4])
		b.WriteByte("0123456789ABCDEF"[c&15])
	}
	return b.String()
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
