// Command otlp is the OpenTelemetry collector's receiver of OTLP, for tests. It prints its address, and that
// of a page: GET returns each request that it took, as a line of the collector's JSON, and POST ?fail=STATUS lets the
// pipeline behind the receiver fail once.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// taken is what the pipeline has.
type taken struct {
	mu    sync.Mutex
	lines [][]byte
	fail  string
}

func (k *taken) consume(_ context.Context, m pmetric.Metrics) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch k.fail {
	case "lasting":
		k.fail = ""
		return consumererror.NewPermanent(errors.New("the pipeline rejects it"))
	case "passing":
		k.fail = ""
		return errors.New("the pipeline is full")
	}
	b, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(m)
	k.lines = append(k.lines, b)
	return err
}

func (k *taken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Method == http.MethodPost {
		k.fail = r.URL.Query().Get("fail")
		return
	}
	for _, b := range k.lines {
		fmt.Fprintf(w, "%s\n", b)
	}
}

func main() {
	k := &taken{}
	sink, err := consumer.NewMetrics(k.consume)
	if err != nil {
		log.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	config.Protocols.HTTP.GetOrInsertDefault().ServerConfig.NetAddr.Endpoint = address
	ctx := context.Background()
	receiver, err := factory.CreateMetrics(ctx, receivertest.NewNopSettings(factory.Type()), config, sink)
	if err != nil {
		log.Fatal(err)
	}
	if err := receiver.Start(ctx, componenttest.NewNopHost()); err != nil {
		log.Fatal(err)
	}
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(address, page.Addr())
	log.Fatal(http.Serve(page, k))
}
