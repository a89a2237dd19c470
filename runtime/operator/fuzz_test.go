package operator

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hyperscale/runtime/api"
	"hyperscale/runtime/operator/operatortest"
)

// FuzzAnswers: whatever the API server and the gates answer, the operator takes whole lists and events with an identity alone.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{
		`{"kind":"LoadTestList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"t","namespace":"shop","uid":"u"},"spec":{"program":{"inline":"x"}}}]}`,
		`{"kind":"LoadTestList","metadata":{"resourceVersion":"9","continue":"x"},"items":[]}`, `{"kind":"Status","code":410,"reason":"Expired"}`,
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"t\",\"namespace\":\"shop\",\"uid\":\"u\",\"resourceVersion\":\"3\"}}}\n{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"4\"}}}",
		`{"type":"ERROR","object":{"kind":"Status","code":410}}`, `{"jobs":[{"job":"` + api.JobOf("operator", "u") + `","name":"loadtest/prod/shop/t/u","state":"RUNNING"}],"next":""}`, ``,
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	token := filepath.Join(f.TempDir(), "token")
	if err := os.WriteFile(token, []byte("MARKED-TOKEN"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte, refused bool) {
		answered := 0
		side := Side{URL: "http://a", Token: token, Transport: operatortest.Direct{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if answered++; refused || answered > 3 { // a list that never ends
				w.WriteHeader(http.StatusTeapot)
			}
			_, _ = w.Write(answer) // the reader has hung up
		})}}
		ctx := context.Background()
		k := &kube{newCaller(side, 0, kubeRefusal)}
		all, revision, err := k.list(ctx, "shop")
		for i := range all {
			if err != nil || revision == "" || all[i].Metadata.UID == "" || all[i].Metadata.Namespace != "shop" {
				t.Fatalf("taken: %+v at %q, %v", all[i].Metadata, revision, err)
			}
		}
		if err != nil && strings.Contains(err.Error(), "MARKED-TOKEN") && !bytes.Contains(answer, []byte("MARKED-TOKEN")) {
			t.Fatal("the token is in an error")
		}
		answered = 0
		before, told := "1", 0
		_ = k.watch(ctx, "shop", &before, func(_ string, o *loadTest) {
			if told++; o.Metadata.UID == "" || o.Metadata.Namespace != "shop" {
				t.Fatalf("told: %+v", o.Metadata)
			}
		})
		if before == "" {
			t.Fatal("a watch lost its revision")
		}
		answered = 0
		jobs, _, err := (&gates{newCaller(side, 0, func(b []byte, r *refusal) { r.Message = string(b) })}).jobs(ctx, "operator", "prod")
		for uid, j := range jobs {
			if m, err := ownerOf("prod", j.Name); err != nil || m.UID != uid || j.Job != api.JobOf("operator", uid) {
				t.Fatalf("job %q of %q", j.Name, uid)
			}
		}
		if refused && err == nil {
			t.Fatal("a refusal is no list")
		}
	})
}
