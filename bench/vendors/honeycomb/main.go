// Command honeycomb is a double of Honeycomb's API for events, for tests. Before it prints its address, the vendor's libhoney-go
// must have passed, and have failed with another key. Key hc-key, dataset `my load`. An event with the field
// `refuse` is rejected alone. Its second address is a page of all events.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/honeycombio/libhoney-go"
	"github.com/honeycombio/libhoney-go/transmission"

	"hyperscale/bench/vendors/double"
)

const (
	key       = "hc-key"
	dataset   = "my load"
	most      = 5_000_000 // bytes of a batch
	eventMax  = 1_000_000 // bytes of an event
	fieldsMax = 2000
	textMax   = 64 << 10
)

type service struct{ store double.Store }

type event struct {
	Time       string         `json:"time"`
	SampleRate int            `json:"samplerate"`
	Data       map[string]any `json:"data"`
}

type said struct {
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Honeycomb-Team") != key {
		double.Refuse(w, http.StatusUnauthorized, "unknown API key - check your credentials")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/1/auth":
		_, _ = w.Write([]byte(`{"api_key_access":{"events":true},"team":{"slug":"t"}}`))
		return
	case r.Method != http.MethodPost || r.URL.Path != "/1/batch/"+dataset:
		double.Refuse(w, http.StatusNotFound, "dataset not found")
		return
	}
	body, err := double.Body(r, most, most)
	var raw []json.RawMessage
	if err == nil {
		err = json.Unmarshal(body, &raw)
	}
	switch {
	case errors.Is(err, double.ErrLarge):
		double.Refuse(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	case err != nil || len(raw) == 0:
		double.Refuse(w, http.StatusBadRequest, "Request body is malformed and cannot be read.")
		return
	}
	var answers []said
	for _, b := range raw {
		answers = append(answers, s.take(b))
	}
	_ = json.NewEncoder(w).Encode(answers)
}

func (s *service) take(b []byte) said {
	var e event
	if err := json.Unmarshal(b, &e); err != nil || len(b) > eventMax || len(e.Data) == 0 {
		return said{http.StatusBadRequest, "Event is malformed."}
	}
	if len(e.Data) > fieldsMax {
		return said{http.StatusBadRequest, "Event has too many columns."}
	}
	if _, err := time.Parse(time.RFC3339Nano, e.Time); err != nil {
		return said{http.StatusBadRequest, "time"}
	}
	for _, v := range e.Data {
		if text, ok := v.(string); ok && len(text) > textMax {
			return said{http.StatusBadRequest, "a field is too long"}
		}
	}
	if e.Data["refuse"] != nil {
		return said{http.StatusBadRequest, "the double rejects this one"}
	}
	s.store.Add(e)
	return said{Status: http.StatusAccepted}
}

// judge lets the vendor's client pass.
func judge(s *service) func(address string) error {
	return func(address string) error {
		for _, k := range []string{"another", key} {
			client, err := libhoney.NewClient(libhoney.ClientConfig{APIKey: k, Dataset: dataset, APIHost: "http://" + address, Transmission: &transmission.Honeycomb{
				MaxBatchSize: 2, BatchTimeout: time.Millisecond, MaxConcurrentBatches: 1, PendingWorkCapacity: 10, DisableCompression: true,
			}})
			if err != nil {
				return err
			}
			for n := range 2 {
				e := client.NewEvent()
				e.AddField("n", n)
				e.Timestamp = time.Now()
				if err := e.Send(); err != nil {
					return err
				}
			}
			client.Flush()
			for range 2 {
				select {
				case a := <-client.TxResponses():
					if k == key && (a.Err != nil || a.StatusCode != http.StatusAccepted) || k != key && a.Err == nil {
						return fmt.Errorf("the vendor's client with key %s: %d %w", k, a.StatusCode, a.Err)
					}
				case <-time.After(30 * time.Second):
					return errors.New("the vendor's client has no answer")
				}
			}
			client.Close()
		}
		if all := s.store.Take(); len(all) != 2 {
			return fmt.Errorf("the vendor's client left %d events", len(all))
		}
		return nil
	}
}

func main() {
	s := &service{}
	double.Main(s, &s.store, judge(s))
}
