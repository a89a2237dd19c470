package operatortest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Refuse answers with a Status.
func Refuse(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(failure(code, reason, message)) // the caller has hung up
}

func failure(code int, reason, message string) Object {
	return Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code}
}

func (k *Kube) answer(w http.ResponseWriter, r *http.Request, kind, namespace, name string, body []byte) {
	switch kind {
	case "list":
		held(w, &k.mu, func(w http.ResponseWriter) { k.list(w, r, namespace) })
	case "watch":
		k.watch(w, r, namespace)
	case "status", "delete", "files":
		held(w, &k.mu, func(w http.ResponseWriter) { k.one(w, r, kind, namespace+"/"+name, body) })
	default:
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
}

// list answers a page; k.mu is held. A token of continue names the revision of the first page and how far it went.
func (k *Kube) list(w http.ResponseWriter, r *http.Request, namespace string) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit")) // none: all
	revision, begin := k.revision, 0
	if next := r.URL.Query().Get("continue"); next != "" {
		if _, err := fmt.Sscanf(next, "%d-%d", &revision, &begin); err != nil || revision != k.revision { // this server keeps no snapshots
			Refuse(w, http.StatusGone, "Expired", "The provided continue parameter is too old")
			return
		}
	}
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(k.objects)) {
		if strings.HasPrefix(key, namespace+"/") {
			keys = append(keys, key)
		}
	}
	end := len(keys)
	meta := map[string]any{"resourceVersion": strconv.Itoa(revision)}
	if limit > 0 && begin+limit < end {
		end = begin + limit
		meta["continue"] = fmt.Sprintf("%d-%d", revision, end)
	}
	items := []Object{}
	for _, key := range keys[min(begin, len(keys)):end] {
		items = append(items, k.objects[key])
	}
	_ = json.NewEncoder(w).Encode(Object{"kind": "LoadTestList", "apiVersion": group + "/v1alpha1", "metadata": meta, "items": items}) // the caller has hung up
}

// watch answers events behind a revision, until its time is over.
func (k *Kube) watch(w http.ResponseWriter, r *http.Request, namespace string) {
	at, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	span, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds")) // none: at once
	if err != nil {
		Refuse(w, http.StatusBadRequest, "BadRequest", "resourceVersion")
		return
	}
	out := json.NewEncoder(w)
	over := time.NewTimer(time.Duration(span) * time.Second)
	defer over.Stop()
	var bookmark <-chan time.Time
	if k.Bookmarks > 0 && r.URL.Query().Get("allowWatchBookmarks") == "true" {
		every := time.NewTicker(k.Bookmarks)
		defer every.Stop()
		bookmark = every.C
	}
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		k.mu.Lock()
		old, news, revision := at < k.floor, k.news, k.revision
		var all []event
		for _, e := range k.log {
			if e.revision > at && e.object.meta()["namespace"] == namespace {
				all = append(all, e)
			}
		}
		k.mu.Unlock()
		if old {
			_ = out.Encode(Object{"type": "ERROR", "object": failure(http.StatusGone, "Expired", "too old resource version")}) // the caller has hung up
			return
		}
		for _, e := range all {
			if out.Encode(Object{"type": e.kind, "object": e.object}) != nil {
				return
			}
		}
		at = revision
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-over.C:
			return
		case <-news:
		case <-bookmark:
			_ = out.Encode(Object{"type": "BOOKMARK", "object": Object{"kind": "LoadTest", "apiVersion": group + "/v1alpha1", "metadata": map[string]any{"resourceVersion": strconv.Itoa(at)}}}) // the caller has hung up
		}
	}
}

// one answers about one object; k.mu is held.
func (k *Kube) one(w http.ResponseWriter, r *http.Request, kind, key string, body []byte) {
	o := k.objects[key]
	if kind == "files" {
		o = k.maps[key]
	}
	if o == nil {
		Refuse(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%q not found", key))
		return
	}
	var in struct {
		Metadata      struct{ UID string }
		Preconditions struct{ UID string }
		Status        map[string]any
	}
	if kind != "files" {
		if err := json.Unmarshal(body, &in); err != nil {
			Refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
			return
		}
	}
	if uid := in.Metadata.UID + in.Preconditions.UID; uid != "" && uid != o.meta()["uid"] {
		Refuse(w, http.StatusConflict, "Conflict", "the UID in the precondition does not match")
		return
	}
	switch kind {
	case "delete":
		k.delete(key)
	case "status":
		if r.Header.Get("Content-Type") != "application/apply-patch+yaml" || r.URL.Query().Get("fieldManager") == "" {
			Refuse(w, http.StatusUnsupportedMediaType, "UnsupportedMediaType", "want server-side apply with a field manager")
			return
		}
		had, _ := json.Marshal(o["status"]) // of JSON
		if b, _ := json.Marshal(in.Status); string(b) != string(had) {
			o["status"] = in.Status
			k.happen("MODIFIED", o)
		}
	}
	_ = json.NewEncoder(w).Encode(o) // the caller has hung up
}
