package convert

import (
	"fmt"
	"net/url"
	"strings"
)

// nameSteps names each step after what it does.
func (p *plan) nameSteps() {
	seen := map[string]bool{}
	for _, s := range p.steps {
		base := snake(s.name, 50)
		if base == "" {
			base = nameOf(s)
		}
		if base[0] >= '0' && base[0] <= '9' {
			base = "step_" + base
		}
		name := base
		for n := 2; seen[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		seen[name] = true
		s.name = name
	}
}

// nameOf is method and words of the path: "post_cart_items".
func nameOf(s *step) string {
	if o, ok := s.body.json.(*object); ok && s.body.kind == bodyJSON {
		if op := snake(o.text("operationName"), 45); op != "" && o.get("query") != nil {
			return op
		}
	}
	path, _, _ := strings.Cut(s.url, "?")
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	}
	segments := strings.Split(path, "/")
	var kept []string
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil && !marked(segment) {
			segment = text
		}
		if i == len(segments)-1 {
			segment = trimExtension(segment)
		}
		if marked(segment) || isID(segment) {
			continue
		}
		if w := snake(segment, 40); w != "" {
			kept = append(kept, w)
		}
	}
	if len(kept) > 3 {
		kept = kept[len(kept)-3:]
	}
	verb := snake(s.method, 20)
	if len(kept) == 0 {
		if s.method == "GET" {
			return "home"
		}
		return verb + "_home"
	}
	name := snake(verb+"_"+strings.Join(kept, "_"), 55)
	if name == "" {
		return "request"
	}
	return name
}

func trimExtension(segment string) string {
	for _, ext := range []string{".html", ".htm", ".php", ".json", ".aspx", ".asp", ".jsp", ".do", ".xml", ".cgi"} {
		if base, ok := strings.CutSuffix(segment, ext); ok && base != "" {
			return base
		}
	}
	return segment
}

// isID says whether a segment of a path names one thing of many: a number, a UUID, a hash.
func isID(segment string) bool {
	digits, letters, hex := 0, 0, true
	for i := range len(segment) {
		switch c := segment[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
			hex = hex && isHex(c)
		case c != '-' && c != '_':
			return false
		}
	}
	return digits > 0 && (letters == 0 || hex && len(segment) >= 8 || len(segment) >= 16 && digits >= 3)
}
