package convert

import (
	"fmt"
	"net/url"
	"strings"
)

// nameSteps names each step after its request.
func (p *Plan) nameSteps() {
	seen := map[string]bool{}
	for _, s := range p.Steps {
		base := Snake(s.Name, 50)
		if base == "" {
			base = NameOf(s)
		}
		if base[0] >= '0' && base[0] <= '9' {
			base = "step_" + base
		}
		name := base
		for n := 2; seen[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		seen[name] = true
		s.Name = name
	}
}

// NameOf joins the method and the words of the path: "post_cart_items".
func NameOf(s *Step) string {
	if o, ok := s.Body.Json.(*Object); ok && s.Body.Kind == BodyJSON {
		if op := Snake(o.Text("operationName"), 45); op != "" && o.Get("query") != nil {
			return op
		}
	}
	path, _, _ := strings.Cut(s.Url, "?")
	if _, rest, ok := strings.Cut(path, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	}
	segments := strings.Split(path, "/")
	var kept []string
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil && !Marked(segment) {
			segment = text
		}
		if i == len(segments)-1 {
			segment = trimExtension(segment)
		}
		if Marked(segment) || isID(segment) {
			continue
		}
		if w := Snake(segment, 40); w != "" {
			kept = append(kept, w)
		}
	}
	if len(kept) > 3 {
		kept = kept[len(kept)-3:]
	}
	verb := Snake(s.Method, 20)
	if len(kept) == 0 {
		if s.Method == "GET" {
			return "home"
		}
		return verb + "_home"
	}
	name := Snake(verb+"_"+strings.Join(kept, "_"), 55)
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
			hex = hex && IsHex(c)
		case c != '-' && c != '_':
			return false
		}
	}
	return digits > 0 && (letters == 0 || hex && len(segment) >= 8 || len(segment) >= 16 && digits >= 3)
}

func Singular(s string) string {
	if strings.HasSuffix(s, "ies") {
		return s[:len(s)-3] + "y"
	}
	if strings.HasSuffix(s, "ss") {
		return s
	}
	return strings.TrimSuffix(s, "s")
}
