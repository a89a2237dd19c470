package kinds_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/outputs/outputstest/vendors/vendorstest"
	"hyperscale/runtime/outputs/push/cosmos"
)

func init() { places["cosmosdb"] = newCosmos }

func newCosmos(t *testing.T) outputstest.Place {
	addresses := vendorstest.Start(t, "cosmos")
	page := "http://" + addresses[1]
	t.Setenv("COSMOS_KEY", serverstest.Ask(t, http.MethodGet, page+"/key"))
	p := &place{behind: page, Proxy: outputstest.NewProxy(serverstest.To(addresses[0]), nil), options: ",database=load,container=rows,key_env=COSMOS_KEY"}
	t.Cleanup(p.Close)
	p.key = (*outputs.Row).Key
	p.stored = func(job string) (map[string]int, error) {
		var documents []json.RawMessage
		if err := json.Unmarshal([]byte(serverstest.Ask(t, http.MethodGet, page+"/documents")), &documents); err != nil {
			return nil, err
		}
		all := map[string]int{}
		for _, d := range documents {
			r, err := outputs.ParseJSON(d)
			if err != nil {
				return nil, err
			}
			if r.Job == job {
				all[r.Key()]++
			}
		}
		return all, nil
	}
	return p
}

func TestCosmosSaysWhatIsWrong(t *testing.T) {
	p := newCosmos(t).(*place)
	t.Setenv("COSMOS_WRONG", "AAAAi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==")
	t.Setenv("COSMOS_TEXT", "no-base64")
	for place, want := range map[string]string{
		strings.Replace(p.Name(), "COSMOS_KEY", "COSMOS_WRONG", 1):         "give a key of this account",
		strings.Replace(p.Name(), "COSMOS_KEY", "COSMOS_TEXT", 1):          "the key is no base64",
		strings.Replace(p.Name(), "container=rows", "container=other", 1):  "create one whose partition key is /job",
		strings.Replace(p.Name(), "container=rows", "container=absent", 1): "create the database, and a container",
		strings.Replace(p.Name(), "database=load", "database=a/b", 1):      "without / ",
		strings.Replace(p.Name(), ",key_env=COSMOS_KEY", "", 1):            "give key_file=FILE",
		"https://u@h/x,database=d,container=c,key_env=COSMOS_KEY":          "no address of an account",
	} {
		k := cosmos.Kind()
		set, err := outputs.Parse(&k, place)
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.Open(set)
		if err == nil {
			err = s.Check(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "AAAAi3") || strings.Contains(err.Error(), "no-base64") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// A container that is short of request units takes a batch in pieces.
func TestCosmosWaitsForRequestUnits(t *testing.T) {
	p := newCosmos(t).(*place)
	s := open(t, cosmos.Kind(), p.Name())
	serverstest.Ask(t, http.MethodGet, p.behind+"/throttle?n=3")
	b := outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("throttled")[:5]}
	for range 3 {
		if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictAgain || out.After.Milliseconds() != 20 || !strings.Contains(out.Why, "raise its throughput") {
			t.Fatalf("%+v", out)
		}
	}
	if out := s.Deliver(t.Context(), b); out.Verdict != outputs.VerdictDelivered {
		t.Fatal(out)
	}
}
