package controlplane

import "strconv"

// peers is the port at which etcd would listen to other members.
const peers = "etcd-peers"

// flags are those of a component.
func (c *Cluster) flags(name string) []string {
	client := "system:" + name
	common := []string{
		"--bind-address=" + c.config.Address, "--secure-port=" + strconv.Itoa(c.ports[name]),
		"--kubeconfig=" + c.path(client+".kubeconfig"), "--authentication-kubeconfig=" + c.path(client+".kubeconfig"), "--authorization-kubeconfig=" + c.path(client+".kubeconfig"),
		"--cert-dir=" + c.path(name), "--leader-elect=false",
	}
	var all []string
	switch name {
	case Etcd:
		all = c.etcdFlags()
	case APIServer:
		all = c.apiServerFlags()
	case ControllerManager:
		all = append(common,
			"--use-service-account-credentials=true", "--service-account-private-key-file="+c.path(accountKeyFile), "--root-ca-file="+c.path(authorityFile))
	case Scheduler:
		all = common
	}
	return append(all, c.config.Flags[name]...)
}

func (c *Cluster) etcdFlags() []string {
	client, peer := "https://"+c.address(Etcd), "http://"+c.address(peers)
	return []string{
		"--name=test", "--data-dir=" + c.path("etcd"), "--unsafe-no-fsync", // a killed process loses nothing that the kernel has
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=test=" + peer,
		"--cert-file=" + c.path(serverFile), "--key-file=" + c.path(serverKeyFile),
		"--client-cert-auth", "--trusted-ca-file=" + c.path(authorityFile),
		"--log-level=warn",
	}
}

func (c *Cluster) apiServerFlags() []string {
	return []string{
		"--bind-address=" + c.config.Address, "--advertise-address=" + c.config.Address, "--secure-port=" + strconv.Itoa(c.ports[APIServer]),
		"--endpoint-reconciler-type=none", // an address of loopback is no endpoint
		"--etcd-servers=https://" + c.address(Etcd), "--etcd-cafile=" + c.path(authorityFile), "--etcd-certfile=" + c.path(clientFile), "--etcd-keyfile=" + c.path(clientKeyFile),
		"--tls-cert-file=" + c.path(serverFile), "--tls-private-key-file=" + c.path(serverKeyFile), "--client-ca-file=" + c.path(authorityFile),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + c.path(accountKeyFile), "--service-account-signing-key-file=" + c.path(accountKeyFile),
		"--service-cluster-ip-range=" + services,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--audit-policy-file=" + c.path("audit.yaml"), "--audit-log-path=" + c.path(auditFile),
	}
}

// services is the range of the addresses of Services.
const services = "10.96.0.0/16"
