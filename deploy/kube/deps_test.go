package kube

import (
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/informers"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/net/dns/dnsmessage"
)
