package lease

import (
	_ "crypto/rand"
	_ "hash/maphash"
	_ "log/slog"
	_ "math/rand/v2"
	_ "net"
	_ "net/http"
	_ "net/netip"
	_ "net/url"
	_ "os"
	_ "os/exec"
	_ "runtime"
	_ "runtime/debug"
	_ "sync"
	_ "sync/atomic"
	_ "unsafe"
)
