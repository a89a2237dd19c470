package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// Config is what the nodes of a test have.
type Config struct {
	Client kubernetes.Interface
	// Nodes is their number: node-1 and so on, each in a zone of its own.
	Nodes int
	// Images are binaries by the name of the image that stands for them. Other images cannot be pulled.
	Images map[string]string
	// Dir gets volumes, roots of containers, and logs.
	Dir string
	// Log gets a line for each start, end and fault. Nil: none.
	Log func(format string, args ...any)
}

// Kubelet runs the pods of all nodes of a test.
type Kubelet struct {
	config  Config
	network *network
	backoff *flowcontrol.Backoff // of all containers
	end     context.CancelFunc
	all     sync.WaitGroup
	names   *names

	mu    sync.Mutex
	pods  map[types.UID]*pod
	ended map[types.UID]bool
	delay time.Duration // of the first start of containers
}

// Delays between starts of a container, as the kubelet's: none before the first restart, then doubled from the first of them.
const (
	backoffMin = 10 * time.Second
	backoffMax = 5 * time.Minute
)

// Start registers the nodes and runs their pods. It returns once pods can start.
func Start(ctx context.Context, c Config) (*Kubelet, error) {
	if c.Nodes < 1 || c.Nodes > 100 {
		return nil, fmt.Errorf("nodes = %d: give 1 to 100", c.Nodes)
	}
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	for name, binary := range c.Images {
		if _, err := os.Stat(binary); err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
	}
	for _, folder := range []string{logs, roots, volumes, disks} {
		if err := os.MkdirAll(filepath.Join(c.Dir, folder), 0o755); err != nil {
			return nil, err
		}
	}
	net, err := newNetwork()
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	k := &Kubelet{config: c, network: net, backoff: flowcontrol.NewBackOff(backoffMin, backoffMax), end: end, pods: map[types.UID]*pod{}, ended: map[types.UID]bool{}}
	if err := k.start(ctx); err != nil {
		k.Stop()
		return nil, err
	}
	return k, nil
}

// The folders of Config.Dir.
const (
	logs    = "logs"
	roots   = "roots"
	volumes = "volumes" // of pods
	disks   = "disks"   // of claims
)

func (k *Kubelet) path(parts ...string) string {
	return filepath.Join(append([]string{k.config.Dir}, parts...)...)
}

func (k *Kubelet) start(ctx context.Context) error {
	factory := informers.NewSharedInformerFactory(k.config.Client, 0)
	var err error
	if k.names, err = newNames(factory); err != nil {
		return err
	}
	k.all.Go(func() { k.names.serve(ctx) })
	if err := k.registerNodes(ctx); err != nil {
		return err
	}
	if err := k.provision(ctx, factory); err != nil {
		return err
	}
	_, err = factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.seen(ctx, o) },
		UpdateFunc: func(_, o any) { k.seen(ctx, o) },
		DeleteFunc: k.removed,
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("list objects of %v: %w", kind, context.Cause(ctx))
		}
	}
	k.all.Go(factory.Shutdown)
	return nil
}

// Stop kills all processes and returns when they have ended.
func (k *Kubelet) Stop() {
	k.end()
	k.all.Wait()
	k.network.close()
}

// seen takes up a pod of one of the nodes, or its newer version.
func (k *Kubelet) seen(ctx context.Context, object any) {
	newest, ok := object.(*corev1.Pod)
	if !ok || newest.Spec.NodeName == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.pods[newest.UID]
	if k.ended[newest.UID] {
		return // an update of the API server's that its end has overtaken
	}
	if p == nil {
		p = newPod(k, newest)
		k.pods[newest.UID] = p
		k.all.Go(func() {
			p.run(ctx)
			k.mu.Lock()
			defer k.mu.Unlock()
			delete(k.pods, newest.UID)
			k.ended[newest.UID] = true
		})
	}
	p.update(newest, false)
}

// removed ends a pod that has left the API server, which happens to a living one only by force.
func (k *Kubelet) removed(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	last, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.pods[last.UID]; p != nil {
		p.update(last, true)
	}
}

// Kill kills all processes of a pod's containers, as a crash does. It returns when they have ended.
func (k *Kubelet) Kill(namespace, name string) error {
	k.mu.Lock()
	var running []*process
	for _, p := range k.pods {
		if p.namespace == namespace && p.name == name {
			running = append(running, p.processes()...)
		}
	}
	k.mu.Unlock()
	if len(running) == 0 {
		return fmt.Errorf("no process of pod %s/%s runs", namespace, name)
	}
	for _, process := range running {
		_ = process.cmd.Process.Kill() // it may have ended a moment ago
		<-process.done
	}
	return nil
}

// Delay makes containers of pods that come from now on start so much later, as those on a new machine do.
func (k *Kubelet) Delay(how time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.delay = how
}

// Log is the path of what a container of a pod has written, in all its starts.
func (k *Kubelet) Log(namespace, pod, container string) string {
	return k.path(logs, namespace+"_"+pod+"_"+container+".log")
}
