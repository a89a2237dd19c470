package main

import (
	"encoding/json"
	"net/http"
	"strings"
)

// eventMax bounds the event of a synchronous invocation.
const eventMax = 6 << 20

func (s *service) lambda(w http.ResponseWriter, r *http.Request, body []byte) {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/2015-03-31/functions/load results/invocations" || r.URL.Query().Get("Qualifier") != "live":
		refuse(w, http.StatusNotFound, "ResourceNotFoundException", "Function not found: "+r.URL.String())
		return
	case len(body) > eventMax:
		refuse(w, http.StatusRequestEntityTooLarge, "RequestTooLargeException", "6 MB")
		return
	}
	switch r.Header.Get("X-Amz-Invocation-Type") {
	case "DryRun":
		w.WriteHeader(http.StatusNoContent)
		return
	case "", "RequestResponse":
	default:
		refuse(w, http.StatusBadRequest, "InvalidParameterValueException", "X-Amz-Invocation-Type")
		return
	}
	var in struct {
		Schema string
		Rows   []json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		refuse(w, http.StatusBadRequest, "InvalidRequestContentException", err.Error())
		return
	}
	if strings.Contains(string(body), `"test":"fail"`) || in.Schema != "hyperscale.rows/1" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_, _ = w.Write([]byte(`{"errorMessage":"Task timed out after 3.00 seconds"}`))
		return
	}
	for _, row := range in.Rows {
		s.store.Add(row)
	}
	_, _ = w.Write([]byte("null"))
}
