package push

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/stats"
	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/model"
)

// What a service took of a batch that needs two requests is not sent again, and the next batch is sent whole.
func TestSeveralRequests(t *testing.T) {
	t.Setenv("DD_KEY", "k")
	var asked []string
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "distribution_points") {
			w.WriteHeader(status)
		}
	}))
	defer server.Close()
	s := open(t, Datadog(), server.URL+",api_key_env=DD_KEY")
	rows := windows("j", "s", 4)
	var h stats.Histogram
	h.Record(1000)
	for i := range rows {
		rows[i].Figures.Latency = h.Wire()
	}
	deliver := func(rows []outputs.Row, want outputs.Verdict, paths string) {
		t.Helper()
		asked = nil
		out := s.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows})
		if got := strings.Join(asked, " "); out.Verdict != want || got != paths {
			t.Fatalf("%+v after %q, want %q", out, got, paths)
		}
	}
	const series, distributions = "/api/v2/series", "/api/v1/distribution_points"
	deliver(rows[:2], outputs.VerdictAgain, series+" "+distributions)
	deliver(rows[:2], outputs.VerdictAgain, distributions)
	status = http.StatusRequestEntityTooLarge // halves would repeat the series
	deliver(rows[:2], outputs.VerdictRejected, distributions)
	status = http.StatusAccepted
	deliver(rows[2:], outputs.VerdictDelivered, series+" "+distributions)
	deliver(rows[2:], outputs.VerdictDelivered, series+" "+distributions)
}

// A tag is what Datadog keeps, and names that differ make tags that differ.
func TestDatadogTags(t *testing.T) {
	for name, want := range map[string]string{"home": "step:home", "größe/x.y": "step:größe/x.y", "Home": "step:home_3a78695388", "a  b": "step:a_b_", "": "step:"} {
		if got := datadogTags([]model.Label{{Name: "step", Value: name}})[0]; !strings.HasPrefix(got, want) || strings.ToLower(got) != got {
			t.Errorf("%q: %q", name, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.OneOf(rapid.String(), rapid.StringMatching(`[aAbB _:]{0,8}`), rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 190, 230, -1))
		a, b := model.Label{Name: names.Draw(t, "name"), Value: names.Draw(t, "a")}, model.Label{Value: names.Draw(t, "b")}
		b.Name = a.Name
		one, other := datadogTags([]model.Label{a})[0], datadogTags([]model.Label{b})[0]
		if one == other != (a.Value == b.Value) || len(one) > datadogTag || datadogClean(one) != strings.TrimRight(one, "_") {
			t.Fatalf("%q is %q, %q is %q", a.Value, one, b.Value, other)
		}
	})
}
