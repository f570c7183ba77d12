package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupPolicySpec is what is wanted.
type BackupPolicySpec struct {
	// schedule says when to back up, as a cron expression of five fields in UTC.
	// +required
	Schedule string `json:"schedule"`

	// TODO(types): the other fields, and what each of them may be. Then: make generate manifests
}

// BackupPolicyStatus is what was observed, by the controller.
type BackupPolicyStatus struct {
	// conditions are what the controller has to say, by type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// TODO(status): observedGeneration, cronJobName, lastBackupTime
}

// TODO(types): the columns of kubectl get.

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bp

// BackupPolicy says which namespaces are backed up, when, and for how long a backup is kept.
type BackupPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is a standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted.
	// +required
	Spec BackupPolicySpec `json:"spec"`

	// status is what was observed, by the controller.
	// +optional
	Status BackupPolicyStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BackupPolicyList is a list of BackupPolicies.
type BackupPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []BackupPolicy `json:"items"`
}
