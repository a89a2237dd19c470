package operator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hyperscale/runtime/api"
)

// The names of the resource.
const (
	Group      = "load.hyperscale.internal"
	Version    = "v1alpha1"
	Kind       = "LoadTest"
	plural     = "loadtests"
	apiVersion = Group + "/" + Version
)

// meta is what the operator reads of an object's metadata.
type meta struct {
	Name      string     `json:"name"`
	Namespace string     `json:"namespace,omitempty"`
	UID       string     `json:"uid,omitempty"`
	Revision  string     `json:"resourceVersion,omitempty"`
	Number    int64      `json:"generation,omitempty"`
	Created   time.Time  `json:"creationTimestamp,omitzero"`
	Deleting  *time.Time `json:"deletionTimestamp,omitempty"`
}

// loadTest is one object.
type loadTest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   meta   `json:"metadata"`
	Spec       spec   `json:"spec,omitzero"`
	Status     status `json:"status,omitzero"`
}

// spec is what a person asks for. But for Cancel and TTL the schema lets no one change it.
type spec struct {
	Program     program           `json:"program"`
	Parameters  map[string]string `json:"parameters,omitempty"`
	VUs         uint64            `json:"vus,omitempty"`
	Duration    string            `json:"duration,omitempty"`
	Rate        string            `json:"rate,omitempty"`
	Stages      []string          `json:"stages,omitempty"`
	Datacenters []string          `json:"datacenters,omitempty"`
	Count       uint32            `json:"count,omitempty"`
	Importance  string            `json:"importance,omitempty"`
	Deadline    string            `json:"deadline,omitempty"`
	Outputs     []string          `json:"outputs,omitempty"`
	Cancel      bool              `json:"cancel,omitempty"`
	TTL         string            `json:"ttlAfterFinished,omitempty"`
}

// program is the workflow file: as it stands, or a key of a ConfigMap whose other keys are the files that it loads.
type program struct {
	Inline    string `json:"inline,omitempty"`
	ConfigMap string `json:"configMap,omitempty"`
	File      string `json:"file,omitempty"`
}

// inlineFile is the name of a program that stands in the object.
const inlineFile = "main.star"

// configMap has the files of a program.
type configMap struct {
	Kind     string            `json:"kind"`
	Data     map[string]string `json:"data"`
	Binary   map[string]string `json:"binaryData"`
	Metadata meta              `json:"metadata"`
}

// submission is what the gates get of an object. Files is nil where the program stands in the object.
func (t *loadTest) submission(label string, files *configMap) (*api.Submission, error) {
	s := &t.Spec
	in := &api.Submission{
		Name: jobName(label, &t.Metadata), Params: s.Parameters, VUs: s.VUs, Duration: s.Duration, Rate: s.Rate, Stages: s.Stages,
		Datacenters: s.Datacenters, Count: s.Count, Importance: s.Importance, Deadline: s.Deadline, Outputs: s.Outputs,
	}
	if files == nil {
		in.Main, in.Files = inlineFile, map[string]string{inlineFile: s.Program.Inline}
		return in, nil
	}
	if len(files.Binary) > 0 {
		return nil, fmt.Errorf("ConfigMap %s has binaryData: a program and its files are UTF-8, use data", s.Program.ConfigMap)
	}
	if _, has := files.Data[s.Program.File]; !has {
		return nil, fmt.Errorf("ConfigMap %s has no key %q: program.file names one of its keys", s.Program.ConfigMap, s.Program.File)
	}
	in.Main, in.Files = s.Program.File, files.Data
	return in, nil
}

// ttl is how long an object stays behind its end; zero: for ever.
func (t *loadTest) ttl() time.Duration {
	d, err := time.ParseDuration(t.Spec.TTL)
	if err != nil { // empty; the schema lets nothing else through
		return 0
	}
	return d
}

// mark begins the name of each job of an operator.
const mark = "loadtest/"

// jobName says in the list of jobs whose object a job is.
func jobName(label string, m *meta) string {
	return mark + strings.Join([]string{label, m.Namespace, m.Name, m.UID}, "/")
}

var errForeign = errors.New("the job is of no object of this operator")

// ownerOf reads a job's name.
func ownerOf(label, name string) (m meta, err error) {
	parts := strings.Split(strings.TrimPrefix(name, mark), "/")
	if !strings.HasPrefix(name, mark) || len(parts) != 4 || parts[0] != label || parts[1] == "" || parts[2] == "" || parts[3] == "" {
		return m, errForeign
	}
	return meta{Namespace: parts[1], Name: parts[2], UID: parts[3]}, nil
}
