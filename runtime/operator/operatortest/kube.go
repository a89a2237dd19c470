package operatortest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	group = "load.hyperscale.internal"
	tests = "/apis/" + group + "/v1alpha1/namespaces/"
)

// Object is any object of the API, as JSON has it.
type Object map[string]any

// Kube is a double of the API server.
type Kube struct {
	// Bookmarks is how often a watch without news says how far it is; 0: never.
	Bookmarks time.Duration

	mu       sync.Mutex
	fault    Fault
	token    func() string // what requests must bring; nil: any
	revision int
	floor    int // no watch begins below
	uids     int
	objects  map[string]Object // LoadTests by namespace/name
	maps     map[string]Object // ConfigMaps
	log      []event
	news     chan struct{} // closed with each event
	calls    []Call
}

// Fault answers a request instead of the server, if it returns true. Kind is list, watch, get, status, delete or files.
type Fault func(kind string, w http.ResponseWriter, r *http.Request) bool

// SetFault changes what answers instead of the server; nil: nothing does.
func (k *Kube) SetFault(f Fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fault = f
}

// SetToken changes what requests must bring; nil: any.
func (k *Kube) SetToken(of func() string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.token = of
}

// Call is a request that has arrived.
type Call struct {
	At   time.Time
	Kind string // of Fault
	Path string
	Body string
}

type event struct {
	revision int
	kind     string
	object   Object
}

// NewKube returns a server without objects.
func NewKube() *Kube {
	return &Kube{objects: map[string]Object{}, maps: map[string]Object{}, news: make(chan struct{}), revision: 1}
}

func (o Object) meta() map[string]any { m, _ := o["metadata"].(map[string]any); return m }

// copied shares no memory.
func (o Object) copied() Object {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out Object
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

// happen stores a change; k.mu is held.
func (k *Kube) happen(kind string, o Object) {
	k.revision++
	o.meta()["resourceVersion"] = strconv.Itoa(k.revision)
	k.log = append(k.log, event{k.revision, kind, o.copied()})
	close(k.news)
	k.news = make(chan struct{})
}

// Apply creates a LoadTest, or changes its spec; a spec that is the same changes nothing. It returns the object's UID.
func (k *Kube) Apply(namespace, name string, spec Object) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := namespace + "/" + name
	spec = spec.copied()
	if o := k.objects[key]; o != nil {
		had, _ := json.Marshal(o["spec"]) // of JSON
		if b, _ := json.Marshal(spec); string(had) != string(b) {
			o["spec"] = map[string]any(spec)
			o.meta()["generation"] = o.meta()["generation"].(int) + 1
			k.happen("MODIFIED", o)
		}
		return o.meta()["uid"].(string)
	}
	k.uids++
	o := Object{"apiVersion": group + "/v1alpha1", "kind": "LoadTest", "spec": map[string]any(spec), "metadata": map[string]any{
		"name": name, "namespace": namespace, "uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", k.uids), "generation": 1,
		"creationTimestamp": time.Now().UTC().Format(time.RFC3339),
	}}
	k.objects[key] = o
	k.happen("ADDED", o)
	return o.meta()["uid"].(string)
}

// Delete deletes a LoadTest.
func (k *Kube) Delete(namespace, name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.delete(namespace + "/" + name)
}

func (k *Kube) delete(key string) {
	if o := k.objects[key]; o != nil {
		delete(k.objects, key)
		k.happen("DELETED", o)
	}
}

// Files puts a ConfigMap.
func (k *Kube) Files(namespace, name string, data map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.maps[namespace+"/"+name] = Object{"apiVersion": "v1", "kind": "ConfigMap", "data": data, "metadata": map[string]any{"name": name, "namespace": namespace}}
}

// Compact forgets all events: a watch from before is answered with 410.
func (k *Kube) Compact() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.floor, k.log = k.revision, nil
}

// Status is that of a LoadTest, or nil.
func (k *Kube) Status(namespace, name string) Object {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.objects[namespace+"/"+name]
	if o == nil || o["status"] == nil {
		return nil
	}
	return Object(o["status"].(map[string]any)).copied()
}

// Exists says that there is such a LoadTest.
func (k *Kube) Exists(namespace, name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.objects[namespace+"/"+name] != nil
}

// Calls are all requests until now.
func (k *Kube) Calls() []Call {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.calls)
}

// ServeHTTP implements http.Handler.
func (k *Kube) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	kind, namespace, name := kindOf(r)
	k.mu.Lock()
	k.calls = append(k.calls, Call{time.Now(), kind, r.URL.Path, string(body)})
	fault, token := k.fault, k.token
	k.mu.Unlock()
	switch {
	case err != nil:
		Refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
	case fault != nil && fault(kind, w, r):
	case token != nil && r.Header.Get("Authorization") != "Bearer "+token():
		Refuse(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	default:
		k.answer(w, r, kind, namespace, name, body)
	}
}

// kindOf reads what a request asks for.
func kindOf(r *http.Request) (kind, namespace, name string) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, tests), "/")
	switch {
	case strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/"):
		parts = strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/"), "/")
		if len(parts) == 3 && parts[1] == "configmaps" {
			return "files", parts[0], parts[2]
		}
	case len(parts) == 2 && parts[1] == "loadtests" && r.URL.Query().Get("watch") == "true":
		return "watch", parts[0], ""
	case len(parts) == 2 && parts[1] == "loadtests":
		return "list", parts[0], ""
	case len(parts) == 3 && r.Method == http.MethodDelete:
		return "delete", parts[0], parts[2]
	case len(parts) == 4 && parts[3] == "status" && r.Method == http.MethodPatch:
		return "status", parts[0], parts[2]
	}
	return "unknown", "", ""
}
