package host

import (
	"log/slog"
	"time"

	"hyperscale/runtime/seal"
	"hyperscale/runtime/transport"
)

// secretsEvery is how often a node looks whether its file of secrets changed.
const secretsEvery = time.Second

// secrets are those of the cluster, and the file that they are read from.
type secrets struct {
	file *seal.File
	ring *seal.Ring
}

// openSecrets reads the file; it returns nil if there is none.
func openSecrets(o *Options) (*secrets, error) {
	if o.SecretFile == "" {
		return nil, nil
	}
	file := seal.OpenFile(o.SecretFile)
	all, err := file.Read()
	if err != nil {
		return nil, err
	}
	return &secrets{file: file, ring: seal.NewRing(transport.Scope(o.Cluster, o.Environment), all)}, nil
}

// keys are those of the transport: nil without secrets.
func (s *secrets) keys() *seal.Ring {
	if s == nil {
		return nil
	}
	return s.ring
}

// watch reads the file again whenever it changes, until the node ends. A file that cannot be read
// changes nothing.
func (s *secrets) watch(logger *slog.Logger, done <-chan struct{}) {
	look := time.NewTicker(secretsEvery)
	defer look.Stop()
	for {
		select {
		case <-done:
			return
		case <-look.C:
		}
		if s.file.Changed() {
			s.read(logger)
		}
	}
}

// read takes what stands in the file now.
func (s *secrets) read(logger *slog.Logger) {
	all, err := s.file.Read()
	if err != nil {
		logger.Error("the cluster's secrets changed and are of no use: the node goes on with those before", "error", err.Error())
		return
	}
	s.ring.Replace(all)
	ids := s.ring.IDs()
	logger.Info("the cluster's secrets changed", "seals_with", ids[0].String(), "opens", len(ids))
}
