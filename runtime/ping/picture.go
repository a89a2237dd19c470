package ping

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"hyperscale/runtime/ui/units"
)

// Widths of a picture, in columns.
const (
	widthMin = 40
	widthMax = 120
	labels   = 12 // before a bar
	values   = 10 // behind it
)

// Print draws the report for people, at most so many columns wide.
func (r *Report) Print(w io.Writer, width int) error {
	var b strings.Builder
	width = min(max(width, widthMin), widthMax)
	fmt.Fprintf(&b, "%s %s\n\n", r.Method, plain(r.URL))
	if r.Cluster != nil {
		r.Cluster.write(&b)
	}
	if r.DNS != nil {
		r.DNS.write(&b)
	}
	for _, t := range r.Tries {
		if t.Error == "" {
			row(&b, "address", fmt.Sprintf("%s from %s", t.Address, r.Local))
		} else {
			row(&b, "address", fmt.Sprintf("%s: %s after %s", t.Address, plain(t.Error), units.Latency(uint64(t.NS))))
		}
	}
	if q := r.QUIC; q != nil {
		row(&b, "quic", fmt.Sprintf("version %s, %s packets received", plain(q.Version), units.Count(q.In)))
	}
	if r.TLS != nil {
		r.TLS.write(&b)
	}
	writeAnswer(&b, r)
	b.WriteByte('\n')
	draw(&b, r, width)
	_, err := io.WriteString(w, b.String())
	return err
}

// row writes a label once and what belongs to it.
func row(b *strings.Builder, label, text string) { fmt.Fprintf(b, "  %-9s %s\n", label, text) }

// Print shows the lookup alone.
func (n *Names) Print(w io.Writer) error {
	var b strings.Builder
	n.write(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (n *Names) write(b *strings.Builder) {
	from := n.Source
	if from == "" && n.Server != "" {
		if from = n.Server; n.TCP {
			from += " over TCP"
		}
		from += " in " + units.Latency(uint64(n.NS))
	}
	if n.Kind != "" {
		row(b, "name", plain(n.Name)+": "+plain(n.Error))
		return
	}
	row(b, "name", plain(n.Name)+" from "+plain(from))
	for _, a := range n.Aliases {
		row(b, "", fmt.Sprintf("%s is %s%s", plain(a.Name), plain(a.To), lasts(a.TTL)))
	}
	for _, r := range n.Records {
		if r.Address != n.Name { // else the URL has the address, which stands in the line above
			row(b, "", r.Address+lasts(r.TTL))
		}
	}
}

func lasts(seconds int64) string {
	if seconds < 0 {
		return ""
	}
	return fmt.Sprintf(" for %v", time.Duration(seconds)*time.Second)
}

func (s *Secured) write(b *strings.Builder) {
	parts := []string{s.Version, s.Cipher}
	if s.Curve != "" {
		parts = append(parts, s.Curve)
	}
	if s.ALPN != "" {
		parts = append(parts, "ALPN "+plain(s.ALPN))
	}
	if s.StapledOCSP {
		parts = append(parts, "OCSP stapled")
	}
	if s.Resumes != nil {
		parts = append(parts, map[bool]string{true: "resumes sessions", false: "does not resume sessions"}[*s.Resumes])
	}
	if s.EarlyData != nil {
		parts = append(parts, map[bool]string{true: "takes early data (0-RTT)", false: "takes no early data (0-RTT)"}[*s.EarlyData])
	}
	row(b, "tls", strings.Join(parts, ", "))
	for i, c := range s.Chain {
		label := ""
		if i == 0 {
			label = "chain"
		}
		left := fmt.Sprintf("%d days left", c.DaysLeft)
		if c.DaysLeft < 0 || time.Now().After(c.NotAfter) {
			left = "EXPIRED"
		}
		row(b, label, fmt.Sprintf("%s (%s), until %s, %s", plain(c.Subject), c.Key, c.NotAfter.UTC().Format(time.DateOnly), left))
	}
	if n := len(s.Chain); n > 0 {
		row(b, "", "issued by "+plain(s.Chain[n-1].Issuer))
	}
	if s.Refusal != "" {
		row(b, "", "NOT TRUSTED: "+plain(s.Refusal))
	}
}

func writeAnswer(b *strings.Builder, r *Report) {
	if a := r.Answer; a != nil {
		keeps := "keeps the connection"
		if !a.KeepAlive {
			keeps = "closes the connection"
		}
		label := "answer"
		if !slices.Contains([]string{"redis", "postgres", "mysql", "nats", "kafka", "mongodb", "mqtt", "amqp", "ftp", "sftp", "scp", "smtp"}, r.Protocol) { // they have no status
			row(b, label, fmt.Sprintf("%d %s, %s, %s", a.Status, http.StatusText(a.Status), a.Protocol, keeps))
			label = ""
		}
		row(b, label, fmt.Sprintf("%s bytes sent, %s received, of them %s of body", units.Count(uint64(a.BytesOut)), units.Count(uint64(a.BytesIn)), units.Count(uint64(a.BodyBytes))))
		for _, h := range a.Headers {
			if strings.EqualFold(h[0], "alt-svc") {
				row(b, "alt-svc", plain(h[1]))
			}
		}
	}
	if s := r.Service; s != nil {
		s.write(b)
	}
	if a := r.Bytes; a != nil && r.Kind == "" {
		ends := "keeps the connection"
		if a.Closed {
			ends = "closes the connection"
		}
		rest := fmt.Sprintf(" within %v, %s", listensFor, ends)
		if r.Protocol == "udp" {
			rest = " in a datagram"
		}
		row(b, "answer", fmt.Sprintf("%s bytes sent, %s received%s", units.Count(uint64(a.Out)), units.Count(uint64(a.In)), rest))
		if first, _, _ := strings.Cut(strings.TrimRight(a.Text, "\r\n"), "\n"); first != "" {
			row(b, "", plain(strings.TrimRight(first, "\r")))
		}
	}
	if e := r.Event; e != nil {
		kind := e.Type
		if kind == "" {
			kind = "message"
		}
		row(b, "event", fmt.Sprintf("%s, %s bytes, %s after the ping began", plain(kind), units.Count(uint64(e.Bytes)), units.Latency(uint64(e.NS))))
		if first, _, _ := strings.Cut(e.Data, "\n"); first != "" {
			row(b, "", plain(first))
		}
	}
	if g := r.Greeting; g != nil {
		chosen := func(what, text string) string {
			if text == "" {
				return "no " + what
			}
			return what + " " + plain(text)
		}
		if g.Server != "" {
			row(b, "server", plain(g.Server))
		}
		said := chosen("protocol", g.Protocol)
		if r.Protocol == "websocket" {
			said += ", " + chosen("extensions", g.Extensions)
		}
		row(b, "greeting", fmt.Sprintf("%s, after %s", said, units.Latency(uint64(g.NS))))
		if asked := map[bool]string{true: "select 1", false: "a ping"}[r.Protocol == "postgres" || r.Protocol == "mysql"]; g.PongNS > 0 {
			row(b, "", fmt.Sprintf("%s was answered after %s", asked, units.Latency(uint64(g.PongNS))))
		}
	}
	if r.Kind != "" {
		row(b, "FAILED", r.Kind+": "+plain(r.Error))
	}
}

// servicesShown is how many services a picture names.
const servicesShown = 20

func (s *Service) write(b *strings.Builder) {
	health := "no health service"
	if s.Health != "" {
		health = s.Health
	}
	row(b, "health", health)
	switch {
	case s.Reflection == "" && s.Health == "":
		row(b, "services", "no reflection")
	case s.Reflection != "":
		row(b, "services", fmt.Sprintf("%d by reflection %s", len(s.Services), s.Reflection))
	}
	for _, name := range s.Services[:min(len(s.Services), servicesShown)] {
		row(b, "", plain(name))
	}
}

// draw shows when each phase was: a bar from its begin to its end.
func draw(b *strings.Builder, r *Report, width int) {
	room := width - labels - values
	total := max(r.TotalNS, 1)
	for _, p := range r.Phases {
		from := int(p.OffsetNS * int64(room) / total)
		to := int((p.OffsetNS + p.NS) * int64(room) / total)
		from = min(from, room-1)
		bar := strings.Repeat("█", to-from)
		if to <= from {
			bar, to = "▏", from+1
		}
		fmt.Fprintf(b, "  %-9s %s%s%s%*s\n", p.Name, strings.Repeat(" ", from), bar, strings.Repeat(" ", max(0, room-to)), values, units.Latency(uint64(p.NS)))
	}
	fmt.Fprintf(b, "  %-9s %s%*s\n", "total", strings.Repeat("─", room), values, units.Latency(uint64(r.TotalNS)))
}

// plain removes what a terminal would interpret.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return unicode.ReplacementChar
		}
		return c
	}, s)
}
