package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Bounds of the API server's side.
const (
	kubeGap  = 120 * time.Millisecond // between two requests: 8 a second, so that two replicas stay below 20
	pageSize = 100
	manager  = "hyperscale-operator" // owns the fields of a status
)

// kube is the side of the API server.
type kube struct{ *caller }

func newKube(s Side) *kube { return &kube{newCaller(s, kubeGap, kubeRefusal)} }

// kubeStatus is what the API server answers instead of an object.
type kubeStatus struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Code    int    `json:"code"`
	Details struct {
		Name  string `json:"name"`
		After int    `json:"retryAfterSeconds"`
	} `json:"details"`
}

func kubeRefusal(b []byte, r *refusal) {
	var s kubeStatus
	if json.Unmarshal(b, &s) != nil || s.Kind != "Status" {
		return
	}
	r.Code, r.Message, r.Name = s.Reason, s.Message, s.Details.Name
	if r.After == 0 && s.Details.After > 0 {
		r.After = time.Duration(min(s.Details.After, int(afterMax/time.Second))) * time.Second
	}
}

func testsPath(namespace string) string {
	return "/apis/" + apiVersion + "/namespaces/" + url.PathEscape(namespace) + "/" + plural
}

func testPath(m *meta) string { return testsPath(m.Namespace) + "/" + url.PathEscape(m.Name) }

// page is a part of a list.
type page struct {
	Kind     string     `json:"kind"`
	Items    []loadTest `json:"items"`
	Metadata struct {
		Revision string `json:"resourceVersion"`
		Next     string `json:"continue"`
	} `json:"metadata"`
}

var errPart = errors.New("the API server's list is not complete")

// list returns all objects of a namespace as they were at one revision, which it returns, too. A part of them is an error.
func (k *kube) list(ctx context.Context, namespace string) (all []loadTest, revision string, err error) {
	next := ""
	for {
		q := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if next != "" {
			q.Set("continue", next)
		}
		var p page
		if err := k.ask(ctx, answerMax, &p, http.MethodGet, testsPath(namespace)+"?"+q.Encode(), nil); err != nil {
			return nil, "", err
		}
		if p.Kind != Kind+"List" || p.Metadata.Revision == "" || revision != "" && p.Metadata.Revision != revision {
			return nil, "", fmt.Errorf("kind %q, revision %q: %w", p.Kind, p.Metadata.Revision, errPart)
		}
		revision = p.Metadata.Revision
		for i := range p.Items {
			if t := &p.Items[i]; t.Metadata.UID == "" || t.Metadata.Namespace != namespace {
				return nil, "", fmt.Errorf("object %q in namespace %q without an identity: %w", t.Metadata.Name, t.Metadata.Namespace, errPart)
			}
		}
		all = append(all, p.Items...)
		if next = p.Metadata.Next; next == "" {
			return all, revision, nil
		}
	}
}

// files reads a ConfigMap.
func (k *kube) files(ctx context.Context, namespace, name string) (*configMap, error) {
	var c configMap
	err := k.ask(ctx, shortMax, &c, http.MethodGet, "/api/v1/namespaces/"+url.PathEscape(namespace)+"/configmaps/"+url.PathEscape(name), nil)
	return &c, err
}

// apply writes the status of an object: the same content from two replicas is one. Of another object with this name the API
// server rejects it, as the UID differs.
func (k *kube) apply(ctx context.Context, m *meta, s *status) error {
	b, err := json.Marshal(map[string]any{
		"apiVersion": apiVersion, "kind": Kind, "status": s,
		"metadata": map[string]string{"name": m.Name, "namespace": m.Namespace, "uid": m.UID},
	})
	if err != nil {
		return err
	}
	q := url.Values{"fieldManager": {manager}, "force": {"true"}}
	return k.ask(ctx, shortMax, nil, http.MethodPatch, testPath(m)+"/status?"+q.Encode(), b, "Content-Type", "application/apply-patch+yaml")
}

// remove deletes an object, unless it is another one by now.
func (k *kube) remove(ctx context.Context, m *meta) error {
	b, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", "preconditions": map[string]string{"uid": m.UID},
	})
	if err != nil {
		return err
	}
	return k.ask(ctx, shortMax, nil, http.MethodDelete, testPath(m), b, "Content-Type", "application/json")
}
